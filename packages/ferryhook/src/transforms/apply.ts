/** Applies the transform of a connection to an event. */
import type { ReceivedEvent } from '../filters/received-event.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { runJavascript, type ScriptOptions } from './javascript.ts'
import type { TransformResult } from './result.ts'
import type { Transform } from './transform.ts'

export interface TransformOptions extends ScriptOptions {
  scheduler: WorkScheduler
}

/** Without a transform the body passes unchanged, byte by byte. */
export async function applyTransform(
  transform: Transform | undefined,
  event: ReceivedEvent,
  options: TransformOptions,
): Promise<TransformResult> {
  switch (transform?.type) {
    case 'javascript':
      return runJavascript(transform.code, event, options)
    case 'field_map':
      return options.scheduler.evaluate(options.owner, {
        kind: 'field_map',
        fieldMap: transform,
        event,
      })
    default: {
      const { body, contentType } = event
      return { kind: 'transformed', body, ...(contentType !== undefined && { contentType }) }
    }
  }
}
