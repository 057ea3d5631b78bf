/** Applies the transform of a connection to an event. */
import { MAX_BODY_BYTES } from '../events/item.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import { mapFields } from './field-map.ts'
import { runJavascript, type ScriptOptions } from './javascript.ts'
import { TransformError, type TransformResult } from './result.ts'
import type { Transform } from './transform.ts'

/** Throws `TransformError`. Without a transform the body passes unchanged, byte by byte. */
export async function applyTransform(
  transform: Transform | undefined,
  event: ReceivedEvent,
  options: ScriptOptions,
): Promise<TransformResult> {
  switch (transform?.type) {
    case 'javascript':
      return runJavascript(transform.code, event, options)
    case 'field_map':
      return { body: encode(mapFields(transform, event)), contentType: 'application/json' }
    default: {
      const { body, contentType } = event
      return { body, ...(contentType !== undefined && { contentType }) }
    }
  }
}

function encode(text: string): Uint8Array {
  const body = new TextEncoder().encode(text)
  if (body.byteLength <= MAX_BODY_BYTES) return body
  throw new TransformError('output_limit', `The mapped body is larger than ${MAX_BODY_BYTES} bytes`)
}
