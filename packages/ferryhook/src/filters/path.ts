/**
 * Paths into an event, after RFC 9535: `$.data.items[0]`, `$['odd.key']`, `$.items[*].id` (any of
 * them) and `$.items[-1]` (the last) in the body; beside it `$headers.x-github-event`,
 * `$query.page` and `$method`.
 */

/** Stands for each element of a list, or each value of an object. */
export const every = Symbol('every')

/** A name, an index, or all there is. */
export type Step = string | number | typeof every

export interface EventPath {
  within: 'body' | 'headers' | 'query' | 'method'
  steps: readonly Step[]
}

/** Its message says what is wrong with a path, for the person who wrote it. */
export class InvalidPath extends Error {
  override readonly name = 'InvalidPath'
}

export const longestPath = 500
const mostSteps = 32

const START = /^\$(headers|query|method)?(?=[.[]|$)/
const STEP =
  /\.(?:(\*)|([^\s.*[\]'"]+))|\[(?:(\*)|(-?\d{1,9})|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y

export function parsePath(text: string): EventPath {
  if (text.length > longestPath) {
    throw new InvalidPath(`Is too long: at most ${longestPath} characters`)
  }
  const start = START.exec(text)
  if (!start) {
    throw new InvalidPath('Is not a path: begin with $. or $headers. or $query. or be $method')
  }
  const within = (start[1] ?? 'body') as EventPath['within']
  const steps = parseSteps(text, start[0].length)
  if (within === 'method' && steps.length > 0) throw new InvalidPath('$method has no parts')
  if ((within === 'headers' || within === 'query') && !isOneName(steps)) {
    throw new InvalidPath(`Names one value after $${within}: $${within}.name or $${within}['name']`)
  }
  return { within, steps }
}

function parseSteps(text: string, from: number): Step[] {
  const steps: Step[] = []
  let at = from
  while (at < text.length) {
    STEP.lastIndex = at
    const found = STEP.exec(text)
    if (!found) {
      throw new InvalidPath(
        `Cannot be read from character ${at + 1} on: use .name, ['name'], [0] or [*]`,
      )
    }
    const [whole, star, name, bracketStar, index, single, double] = found
    if (star ?? bracketStar) steps.push(every)
    else if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? unescape(single ?? double ?? ''))
    at += whole.length
  }
  if (steps.length > mostSteps) throw new InvalidPath(`Has more than ${mostSteps} steps`)
  return steps
}

function unescape(quoted: string): string {
  return quoted.replace(/\\(.)/gs, '$1')
}

function isOneName(steps: readonly Step[]): boolean {
  return steps.length === 1 && typeof steps[0] === 'string'
}
