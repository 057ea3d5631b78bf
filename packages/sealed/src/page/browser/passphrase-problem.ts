import type { TextKey } from './language.ts'

/** Why this cannot be a passphrase; undefined if it can. */
export function passphraseProblem(typed: string, empty: TextKey): TextKey | undefined {
  if (typed === '') return empty
  // UTF-8 has no way to write half a character.
  return /\p{Surrogate}/u.test(typed) ? 'create.malformed' : undefined
}
