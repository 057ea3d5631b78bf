/**
 * The work that tenants and senders decide on: filters, field maps, and the preparation of events for
 * scripts. A job is data, so that the event loop and a thread can run the same one.
 */
import type { Budget } from '../filters/budget.ts'
import type { Filter } from '../filters/filter.ts'
import { type FilterResult, matchFilter } from '../filters/match.ts'
import type { FilteredEvent, ReceivedEvent } from '../filters/received-event.ts'
import { mapFields } from '../transforms/field-map.ts'
import type { TransformFailure, TransformResult } from '../transforms/result.ts'
import { toScriptEvent } from '../transforms/script-event.ts'
import type { FieldMap } from '../transforms/transform.ts'
import type { ScriptEvent } from './sandbox.ts'

export type EvaluationJob =
  | { kind: 'filter'; filter: Filter; event: FilteredEvent }
  | { kind: 'field_map'; fieldMap: FieldMap; event: ReceivedEvent }
  | { kind: 'script_event'; event: ReceivedEvent }

export interface EvaluationResults {
  filter: FilterResult
  field_map: TransformResult
  script_event: ScriptEvent | TransformFailure
}

export type EvaluationResult = EvaluationResults[keyof EvaluationResults]

export function evaluate(job: EvaluationJob, budget: Budget): EvaluationResult {
  switch (job.kind) {
    case 'filter':
      return matchFilter(job.filter, job.event, budget)
    case 'field_map':
      return mapFields(job.fieldMap, job.event, budget)
    case 'script_event':
      return toScriptEvent(job.event, budget)
  }
}
