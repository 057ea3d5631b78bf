/** What a connection is sent of an event. */
import type { ReceivedEvent } from '../filters/event.ts'
import { longestBody } from '../items/event.ts'
import { TransformError } from './error.ts'
import { mapFields } from './field-map.ts'
import { runJavascript, type ScriptOptions } from './javascript.ts'
import type { TransformResult } from './result.ts'
import type { Transform } from './transform.ts'

/** Throws `TransformError`; without a transform the body passes as it is, byte by byte. */
export async function applyTransform(
  transform: Transform | undefined,
  event: ReceivedEvent,
  options: ScriptOptions,
): Promise<TransformResult> {
  switch (transform?.type) {
    case 'javascript':
      return runJavascript(transform.code, event, options)
    case 'field_map':
      return { body: encoded(mapFields(transform, event)), contentType: 'application/json' }
    default: {
      const { body, contentType } = event
      return { body, ...(contentType !== undefined && { contentType }) }
    }
  }
}

function encoded(text: string): Uint8Array {
  const body = new TextEncoder().encode(text)
  if (body.byteLength <= longestBody) return body
  throw new TransformError('output_limit', `The mapped body has more than ${longestBody} bytes`)
}
