/** Puts a text on the clipboard. @returns whether the browser allowed it */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Pages that come over plain HTTP have no clipboard, and a user may have denied it.
    return copySelected(text)
  }
}

/** The way of browsers without a clipboard. */
function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'hidden'
  document.body.append(area)
  area.select()
  try {
    return document.execCommand('copy')
  } finally {
    area.remove()
    focused?.focus()
  }
}
