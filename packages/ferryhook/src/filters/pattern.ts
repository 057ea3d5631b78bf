/** Regular expressions written by users. RE2 matches in linear time and never backtracks. */
import { LRUCache } from 'lru-cache'
import { RE2JS, RE2JSException } from 're2js'
import type { Budget } from './budget.ts'
import { FilterSyntaxError } from './path.ts'

const MAX_PATTERN_LENGTH = 256
/** A match takes time proportional to the text times the program, so both are bounded. */
const MAX_PROGRAM_INSTRUCTIONS = 500
/** Repetitions are expanded before the program can be measured. */
const MAX_REPETITIONS = 1_000

/** A filter is compiled in turns, then validated, and its connection is read again and again. */
const cache = new LRUCache<string, Pattern>({ max: 1_000 })

export interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string, budget: Budget): boolean
}

/** Throws `FilterSyntaxError`. */
export function compilePattern(source: string): Pattern {
  const cached = cache.get(source)
  if (cached) return cached
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new FilterSyntaxError(`Must be at most ${MAX_PATTERN_LENGTH} characters`)
  }
  if (repetitionsIn(source) > MAX_REPETITIONS) throw repeatsTooMuch()
  const compiled = compile(source)
  const size = compiled.programSize()
  if (size > MAX_PROGRAM_INSTRUCTIONS) throw repeatsTooMuch()
  const pattern: Pattern = {
    test(text, budget) {
      budget.spend(size * (1 + text.length))
      return compiled.test(text)
    },
  }
  cache.set(source, pattern)
  return pattern
}

function repeatsTooMuch(): FilterSyntaxError {
  return new FilterSyntaxError(
    'Repeats too much. Use smaller numbers in braces, or several conditions.',
  )
}

/** The sum of all numbers in braces. */
function repetitionsIn(source: string): number {
  const counts = source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)
  return [...counts].reduce((sum, [, least, most]) => sum + Number(most || least), 0)
}

/** Ranges of characters that take long to compile if case is ignored. */
const WIDE_RANGE_CHARACTERS = 1_000

/**
 * What it costs to compile the Unicode classes and ranges of a pattern, in units of about 0.1 ms.
 * Folding the case of a wide range tries every character in it.
 */
export function classUnits(source: string): number {
  const ignoresCase = /\(\?[a-zA-Z]*i/.test(source)
  const classes = source.match(/\\p/gi)?.length ?? 0
  if (!ignoresCase) return classes
  const bounds = source.matchAll(/(\\x\{[0-9a-f]+\}|.)-(\\x\{[0-9a-f]+\}|.)/gisu)
  const wide = [...bounds].filter(
    ([, first = '', last = '']) => codePoint(last) - codePoint(first) > WIDE_RANGE_CHARACTERS,
  )
  return classes * 4 + wide.length * 40
}

function codePoint(text: string): number {
  return text.length > 2 ? Number.parseInt(text.slice(3, -1), 16) : (text.codePointAt(0) ?? 0)
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
