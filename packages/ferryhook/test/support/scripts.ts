/** Scripts for tests, on one sandbox for each file. */
import { afterAll } from 'vitest'
import type { ReceivedEvent } from '../../src/filters/received-event.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { applyTransform } from '../../src/transforms/apply.ts'
import type { TransformFailure, TransformResult } from '../../src/transforms/result.ts'
import { Transform } from '../../src/transforms/transform.ts'
import { received } from './received-events.ts'

export function scripts() {
  // No timeout, so that the result does not depend on how busy the machine is.
  const sandbox = createSandbox({ startTimer: () => () => undefined })
  afterAll(() => sandbox.close())

  const run = (code: string, event: ReceivedEvent = received({})): Promise<TransformResult> =>
    applyTransform(Transform.parse({ type: 'javascript', code }), event, {
      sandbox,
      scheduler: createWorkScheduler(),
      owner: 'usr_1',
    })

  return {
    sandbox,
    run,
    /** The body of the result as text. */
    async output(code: string, event?: ReceivedEvent): Promise<string> {
      return textOf(await run(code, event))
    },
    /** The failure that the script must end with. */
    async failure(code: string, event?: ReceivedEvent): Promise<TransformFailure> {
      return failureOf(run(code, event))
    },
  }
}

export function textOf(result: TransformResult): string {
  if (result.kind !== 'transformed') throw new TypeError(`The transform ${result.kind}`)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(result.body)
}

export async function failureOf(
  transform: Promise<TransformResult | undefined>,
): Promise<TransformFailure> {
  const result = await transform
  if (result?.kind !== 'failed') throw new TypeError('The transform did not fail')
  return result
}
