/** Scripts for tests, on one sandbox for each file. */
import { afterAll } from 'vitest'
import type { ReceivedEvent } from '../../src/filters/received-event.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { applyTransform } from '../../src/transforms/apply.ts'
import { TransformError, type TransformResult } from '../../src/transforms/result.ts'
import { Transform } from '../../src/transforms/transform.ts'
import { received } from './received-events.ts'

export function scripts() {
  // No timeout, so that how a script fails does not depend on how busy the machine is.
  const sandbox = createSandbox({ startTimer: () => () => undefined })
  afterAll(() => sandbox.close())

  const run = (code: string, event: ReceivedEvent = received({})): Promise<TransformResult> =>
    applyTransform(Transform.parse({ type: 'javascript', code }), event, {
      sandbox,
      owner: 'usr_1',
    })

  return {
    sandbox,
    run,
    /** The body of the result as text. */
    async output(code: string, event?: ReceivedEvent): Promise<string> {
      return textOf(await run(code, event))
    },
    /** The error that the script must fail with. */
    async failure(code: string, event?: ReceivedEvent): Promise<TransformError> {
      return failureOf(run(code, event))
    },
  }
}

export function textOf(result: TransformResult): string {
  if (result.dropped) throw new TypeError('The event was dropped')
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(result.body)
}

export async function failureOf(failing: Promise<unknown>): Promise<TransformError> {
  try {
    await failing
  } catch (error) {
    if (error instanceof TransformError) return error
    throw error
  }
  throw new TypeError('The transform did not fail')
}
