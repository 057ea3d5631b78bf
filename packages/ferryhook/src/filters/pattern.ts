/** Regular expressions of users: RE2's, whose time grows with the text and never explodes. */
import { RE2JS, RE2JSException } from 're2js'
import type { Work } from './work.ts'

export const longestPattern = 256
/** Linear time is the length of the text times this, so both are bounded. */
const largestProgram = 500

/** Its message says what is wrong with a pattern, for the person who wrote it. */
export class InvalidPattern extends Error {
  override readonly name = 'InvalidPattern'
}

export interface Pattern {
  /** Whether it is found anywhere in the text. */
  test(text: string, work: Work): boolean
}

export function compilePattern(source: string): Pattern {
  if (source.length > longestPattern) {
    throw new InvalidPattern(`Is too long: at most ${longestPattern} characters`)
  }
  const compiled = compile(source)
  const size = compiled.programSize()
  if (size > largestProgram) {
    throw new InvalidPattern(
      'Repeats too much: use smaller numbers in braces, or several conditions',
    )
  }
  return {
    test(text, work) {
      work.spend(size * (1 + text.length))
      return compiled.test(text)
    },
  }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const what = error.message.replace(/^error parsing regexp: /, '')
    throw new InvalidPattern(`Is not a regular expression of RE2: ${what}`)
  }
}
