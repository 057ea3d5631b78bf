/** Where a rule writes: `a`, `a.b`, `a.items[0].id`, `['odd.key']`, or `$` for the whole body. */
import { InvalidPath, parsePath } from '../filters/path.ts'

export type Target = readonly (string | number)[]

/** A longer gap would be filled with nulls. */
const largestIndex = 99

export function parseTarget(text: string): Target {
  const { within, steps } = parsePath(withStart(text))
  const target = steps.filter((step) => typeof step !== 'symbol')
  if (within !== 'body') throw new InvalidPath('Is written into the body: begin with $. or a name')
  if (target.length < steps.length) throw new InvalidPath('Cannot be a wildcard: name one place')
  if (target.some((step) => typeof step === 'number' && (step < 0 || step > largestIndex))) {
    throw new InvalidPath(`Has an index outside of 0 to ${largestIndex}`)
  }
  return target
}

function withStart(text: string): string {
  if (text.startsWith('$')) return text
  return text.startsWith('[') ? `$${text}` : `$.${text}`
}
