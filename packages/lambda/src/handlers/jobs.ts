import { setTimeout } from 'node:timers/promises'
import { keyStoreService } from '@strongroom/key-store/service'
import { createJobRunner } from '@strongroom/kit/jobs/runner'
import { startBackgroundTimer } from '@strongroom/platform/timers'
import { createJobKinds } from '@strongroom/server/jobs/kinds'
import { createServiceDeps } from '@strongroom/server/service-deps'
import { openOnce } from '@strongroom/kit/open-once'
import { type LambdaContext, openRuntime } from '../runtime.ts'

/** Longer than a step takes. */
const STEP_MS = 60_000

const open = openOnce(async () => {
  const services = [keyStoreService]
  const runtime = await openRuntime(services)
  const deps = createServiceDeps({ ...runtime, services })
  const kinds = await createJobKinds(services, deps)
  return { runtime, runner: createJobRunner({ ...deps, startTimer: startBackgroundTimer, kinds }) }
})

/** For a schedule. Waits for steps that are due later, while there is time for another one. */
export async function handler(_event: unknown, context: LambdaContext): Promise<void> {
  const { runtime, runner } = await open()
  await runtime.resume()
  for (;;) {
    const waitMs = (await runner.runDue()) - Date.now()
    runtime.rest()
    if (waitMs + STEP_MS > context.getRemainingTimeInMillis()) return
    await setTimeout(Math.max(0, waitMs))
  }
}
