// Combines the results that a section had in several runs.

import type { Expectation, Expectations, Result, Target } from './result.ts'
import { withActual } from './result.ts'
import { type Figures, median } from './rounds.ts'

/** Medians of the targets, the rounds of all runs, and the notes of the last run. */
export function combine(runs: readonly Result[]): Result {
  const last = runs.at(-1)
  if (last === undefined) throw new Error('There is no result to combine')
  if (runs.length === 1) return last
  const expectations = combineExpectations(runs)
  return {
    ...last,
    figures: combineFigures(runs.flatMap(({ figures }) => figures)),
    targets: combineTargets(runs.flatMap(({ targets }) => targets)),
    ...(expectations && { expectations }),
  }
}

function combineFigures(figures: readonly Figures[]): Figures[] {
  const groups = groupBy(figures, ({ system, what, concurrency }) =>
    [system, what, concurrency].join('\n'),
  )
  return groups.map((group) => ({
    ...group[0]!,
    rates: group.flatMap(({ rates }) => rates),
    cpu: group.flatMap(({ cpu }) => cpu),
  }))
}

function combineTargets(targets: readonly Target[]): Target[] {
  return groupBy(targets, ({ text }) => text).map((group) => {
    const actuals = group.map(({ actual }) => actual)
    const combined = { ...withActual(group[0]!, median(actuals)), runs: actuals }
    const [best, cpu] = (['best', 'cpu'] as const).map((name) =>
      group.flatMap((target) => target[name] ?? []),
    )
    if (best!.length > 0) combined.best = median(best!)
    if (cpu!.length > 0) combined.cpu = median(cpu!)
    return combined
  })
}

function combineExpectations(runs: readonly Result[]): Expectations | undefined {
  const found = runs.flatMap(({ expectations }) => Object.entries(expectations ?? {}))
  if (found.length === 0) return undefined
  const medians = groupBy(found, ([name]) => name).map((entries) => [
    entries[0]![0] as Expectation,
    median(entries.map(([, value]) => value)),
  ])
  return Object.fromEntries(medians) as Expectations
}

/** Node 20 has no Map.groupBy. */
function groupBy<T>(all: readonly T[], keyOf: (each: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const each of all) {
    const group = groups.get(keyOf(each))
    if (group === undefined) groups.set(keyOf(each), [each])
    else group.push(each)
  }
  return [...groups.values()]
}
