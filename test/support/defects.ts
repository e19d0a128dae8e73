/** Returns the first of the defects of each file. */
export const firstOfEachFile = <M extends { readonly file: string }>(mutations: readonly M[]): M[] =>
  mutations.filter(({ file }, i) => mutations.findIndex((other) => other.file === file) === i)
