/** What a filter and a transform would do to an event, without doing it. */
import type { ReceivedEvent } from '../filters/event.ts'
import type { Filter } from '../filters/filter.ts'
import { matchFilter } from '../filters/match.ts'
import { applyTransform } from './apply.ts'
import { TransformError, type TransformErrorCode } from './error.ts'
import type { ScriptOptions } from './javascript.ts'
import type { Transform } from './transform.ts'

export interface DryRunInput {
  filter?: Filter | undefined
  transform?: Transform | undefined
  event: ReceivedEvent
}

export type DryRun = (
  | { outcome: 'filtered'; reason: string }
  | { outcome: 'dropped'; reason: string }
  | { outcome: 'failed'; error: { code: TransformErrorCode; message: string } }
  | {
      outcome: 'delivered'
      body: Uint8Array
      contentType?: string
      headers?: Readonly<Record<string, string>>
    }
) & {
  /** Whether the filter let it pass. */
  matched: boolean
  console: readonly string[]
}

export async function dryRun(
  { filter = [], transform, event }: DryRunInput,
  options: ScriptOptions,
): Promise<DryRun> {
  const { matched, reason } = matchFilter(filter, event)
  if (!matched) return { outcome: 'filtered', matched, reason: reason ?? '', console: [] }
  try {
    const { console = [], ...result } = await applyTransform(transform, event, options)
    if (result.dropped) return { outcome: 'dropped', matched, reason: result.reason, console }
    return { outcome: 'delivered', matched, ...result, console }
  } catch (error) {
    if (!(error instanceof TransformError)) throw error
    const { code, message, console } = error
    return { outcome: 'failed', matched, error: { code, message }, console }
  }
}
