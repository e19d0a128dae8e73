/** A view of a generator, as its generator sees it. */
export interface View {
  /** Continues with the state to which the core of the generator has moved. */
  follow(): void
  close(): void
}

/** The views of a generator that the program still has. A view that the program has dropped is collected. */
export class Views {
  readonly #refs = new Set<WeakRef<View>>()
  readonly #dropped = new FinalizationRegistry<WeakRef<View>>((ref) => this.#refs.delete(ref))

  add(view: View): void {
    const ref = new WeakRef(view)
    this.#refs.add(ref)
    this.#dropped.register(view, ref)
  }

  follow(): void {
    for (const ref of this.#refs) ref.deref()?.follow()
  }

  close(): void {
    for (const ref of this.#refs) ref.deref()?.close()
    this.#refs.clear()
  }
}
