/**
 * Rotates every branch key that is older than a given age, one after the other.
 *
 * It can be stopped after any key and run again, because rotated keys are no longer due. A key that
 * cannot be rotated does not stop the others.
 */
import { ApiError } from '@strongroom/kit/errors'

export interface RotatableKeys {
  pages(): AsyncIterable<{
    items: readonly { id: string; ageSeconds: number | null }[]
    unreadable: readonly { id: string; problem: string }[]
  }>
  rotate(id: string): Promise<unknown>
}

export interface RotateAllOptions {
  olderThanSeconds: number
  /** Stops after the current key. */
  stop: AbortSignal
  /** Called after each key that was due. */
  onKey?: (key: { id: string; ageSeconds: number | null; outcome: RotationOutcome }) => void
}

/** `raced`: another process rotated it at the same time. */
export type RotationOutcome = 'rotated' | 'raced' | 'failed'

export interface RotationSummary {
  /** Keys that another process rotated; included above. */
  rotated: number
  /** Keys that are not old enough. */
  young: number
  failed: { id: string; problem: string }[]
  /** Whether it was stopped before the last key. */
  stopped: boolean
}

export async function rotateAll(
  keys: RotatableKeys,
  { olderThanSeconds, stop, onKey }: RotateAllOptions,
): Promise<RotationSummary> {
  const summary: RotationSummary = { rotated: 0, young: 0, failed: [], stopped: false }
  for await (const { items, unreadable } of keys.pages()) {
    summary.failed.push(...unreadable)
    for (const { id, ageSeconds } of items) {
      if (stop.aborted) return { ...summary, stopped: true }
      // A key of unknown age is due.
      if (ageSeconds !== null && ageSeconds < olderThanSeconds) {
        summary.young++
        continue
      }
      const outcome = await rotateOne(keys, id, summary.failed)
      if (outcome !== 'failed') summary.rotated++
      onKey?.({ id, ageSeconds, outcome })
    }
  }
  return summary
}

async function rotateOne(
  keys: RotatableKeys,
  id: string,
  failed: RotationSummary['failed'],
): Promise<RotationOutcome> {
  try {
    await keys.rotate(id)
    return 'rotated'
  } catch (error) {
    if (error instanceof ApiError && error.code === 'key-store.version_race') return 'raced'
    failed.push({ id, problem: error instanceof Error ? error.message : String(error) })
    return 'failed'
  }
}
