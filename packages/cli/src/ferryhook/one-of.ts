import { nearest } from '@strongroom/kit/nearest'
import { UsageError } from '../command.ts'

/** A name that Ferryhook knows: a slip is told before anything is sent. */
export function oneOf(option: string, names: readonly string[], given: string): string {
  if (names.includes(given)) return given
  const meant = nearest(given, names)
  const hint = meant === undefined ? `choose from ${names.join(', ')}` : `did you mean ${meant}?`
  throw new UsageError(`--${option} knows no "${given}": ${hint}`)
}
