/**
 * Compiles the patterns of a filter one by one, before the filter is validated. Fifty of them take
 * tens of milliseconds, which would block the event loop; validation then finds them in the cache.
 */
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { MAX_CONDITIONS, MAX_GROUP_DEPTH } from './filter.ts'
import { FilterSyntaxError } from './path.ts'
import { compilePattern } from './pattern.ts'

const UNITS_PER_PATTERN = 15_000

/** `rules` come from a client or the store and are not validated. */
export async function compilePatterns(
  rules: unknown,
  owner: string,
  scheduler: WorkScheduler,
): Promise<void> {
  for (const pattern of patternsOf(rules)) {
    const isValid = await scheduler.run(owner, (budget) => {
      budget.spend(UNITS_PER_PATTERN)
      return compiles(pattern)
    })
    // Validation stops there too.
    if (!isValid) return
  }
}

function compiles(pattern: string): boolean {
  try {
    compilePattern(pattern)
    return true
  } catch (error) {
    if (error instanceof FilterSyntaxError) return false
    throw error
  }
}

/** In the order in which they are validated. */
function patternsOf(rules: unknown): string[] {
  const patterns: string[] = []
  let conditions = 0

  function visit(rule: unknown, depth: number): void {
    if (depth > MAX_GROUP_DEPTH || conditions >= MAX_CONDITIONS) return
    if (typeof rule !== 'object' || rule === null) return
    const { all, any, not, operator, value } = rule as Record<string, unknown>
    if (operator !== undefined) {
      conditions += 1
      if (operator === 'regex' && typeof value === 'string') patterns.push(value)
      return
    }
    for (const inner of [all, any, not].flat()) visit(inner, depth + 1)
  }

  if (Array.isArray(rules)) for (const rule of rules) visit(rule, 0)
  return patterns
}
