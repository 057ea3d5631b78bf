/** The states of one delivery, and the status of an event that follows from those of all of its deliveries. */

/** `runnable` and `retrying` are before the first and before a later attempt; `held` is paused. */
export const deliveryStates = [
  'runnable',
  'retrying',
  'held',
  'failed',
  'delivered',
  'filtered',
] as const
export type DeliveryState = (typeof deliveryStates)[number]

export type DeliveryCounts = Record<DeliveryState, number>

export const noDeliveries: DeliveryCounts = {
  runnable: 0,
  retrying: 0,
  held: 0,
  failed: 0,
  delivered: 0,
  filtered: 0,
}

/** The first of these that any delivery is in tells what the event waits for, or how it ended. */
const precedence = [
  ['retrying', 'retrying'],
  ['runnable', 'processing'],
  ['held', 'held'],
  ['failed', 'failed'],
  ['delivered', 'delivered'],
  ['filtered', 'filtered'],
] as const

/** Undefined if there are no deliveries, because then they do not decide. */
export function derivedStatus(counts: DeliveryCounts) {
  return precedence.find(([state]) => counts[state] > 0)?.[1]
}

export function countsOf(deliveries: readonly { state: DeliveryState }[]): DeliveryCounts {
  const counts = { ...noDeliveries }
  for (const { state } of deliveries) counts[state] += 1
  return counts
}

/** The counts after a delivery came into a state, from another or from nowhere. */
export function moved(
  counts: DeliveryCounts,
  { from, to }: { from?: DeliveryState; to: DeliveryState },
): DeliveryCounts {
  const after = { ...counts }
  // Below none only for a caller who came too late, whom the conditions of its write refuse.
  if (from) after[from] = Math.max(0, after[from] - 1)
  after[to] += 1
  return after
}

/** Whether a run is still under way: it may not be replayed then. */
export function isOpen(state: DeliveryState): boolean {
  return state === 'runnable' || state === 'retrying' || state === 'held'
}

/** The state of a delivery whose next attempt has this number. */
export function stateBefore(attemptNumber: number): 'runnable' | 'retrying' {
  return attemptNumber === 1 ? 'runnable' : 'retrying'
}
