/** Regular expressions written by users. RE2 matches in linear time and never backtracks. */
import { RE2JS, RE2JSException } from 're2js'
import type { Budget } from './budget.ts'
import { FilterSyntaxError } from './path.ts'

const MAX_PATTERN_LENGTH = 256
/** A match takes time proportional to the text times the program, so both are bounded. */
const MAX_PROGRAM_INSTRUCTIONS = 500

export interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string, budget: Budget): boolean
}

/** Throws `FilterSyntaxError`. */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new FilterSyntaxError(`Must be at most ${MAX_PATTERN_LENGTH} characters`)
  }
  const compiled = compile(source)
  const size = compiled.programSize()
  if (size > MAX_PROGRAM_INSTRUCTIONS) {
    throw new FilterSyntaxError(
      'Repeats too much. Use smaller numbers in braces, or several conditions.',
    )
  }
  return {
    test(text, budget) {
      budget.spend(size * (1 + text.length))
      return compiled.test(text)
    },
  }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const problem = error.message.replace(/^error parsing regexp: /, '')
    throw new FilterSyntaxError(`Is not an RE2 regular expression: ${problem}`)
  }
}
