/** The states of a delivery, and the event status that follows from the states of all deliveries. */

/** `runnable` is before the first attempt, `retrying` before a later one. `held` is paused. */
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

/** The first state that any delivery has decides the status. */
const precedence = [
  ['retrying', 'retrying'],
  ['runnable', 'processing'],
  ['held', 'held'],
  ['failed', 'failed'],
  ['delivered', 'delivered'],
  ['filtered', 'filtered'],
] as const

/** Undefined if there are no deliveries; the status is then set explicitly. */
export function derivedStatus(counts: DeliveryCounts) {
  return precedence.find(([state]) => counts[state] > 0)?.[1]
}

export function countsOf(deliveries: readonly { state: DeliveryState }[]): DeliveryCounts {
  const counts = { ...noDeliveries }
  for (const { state } of deliveries) counts[state] += 1
  return counts
}

/** The counts after a delivery changed its state; without `from` the delivery is new. */
export function moveCount(
  counts: DeliveryCounts,
  { from, to }: { from?: DeliveryState; to: DeliveryState },
): DeliveryCounts {
  const after = { ...counts }
  // Negative only for a stale caller, whose write fails its condition.
  if (from) after[from] = Math.max(0, after[from] - 1)
  after[to] += 1
  return after
}

/** Whether a run has not ended. It cannot be replayed until then. */
export function isPending(state: DeliveryState): boolean {
  return state === 'runnable' || state === 'retrying' || state === 'held'
}

/** The state of a delivery whose next attempt has this number. */
export function pendingState(attemptNumber: number): 'runnable' | 'retrying' {
  return attemptNumber === 1 ? 'runnable' : 'retrying'
}
