/**
 * How much one check of a filter may do. A filter runs between the deliveries of others, and what
 * it costs is up to whoever wrote it and whoever sends the event.
 */

/** One unit is about a tenth of a microsecond. */
const mostUnits = 500_000

export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork'
}

export interface Work {
  /** Throws `TooMuchWork` when there is nothing left to spend. */
  spend(units: number): void
}

export function limitedWork(units: number = mostUnits): Work {
  let left = units
  return {
    spend(spent) {
      if (spent > left) throw new TooMuchWork('The filter has too much to do')
      left -= spent
    },
  }
}
