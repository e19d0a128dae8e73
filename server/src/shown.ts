const most = 60

/** What was given, as messages say it: short and in one line. */
export function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > most ? `${json.slice(0, most)}…` : json
}
