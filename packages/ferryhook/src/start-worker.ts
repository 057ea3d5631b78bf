/** A process that only delivers: any number of them, beside servers that receive. */
import type { RunningWorker, ServiceDeps } from '@strongroom/kit/service'
import { composeDelivery } from './compose-delivery.ts'
import { createReplayRunner } from './replay/runner.ts'
import type { FerryhookNeeds } from './service-definition.ts'

export async function startFerryhookWorker(
  deps: ServiceDeps & FerryhookNeeds,
): Promise<RunningWorker> {
  const delivery = await composeDelivery(deps, {})
  const { worker } = delivery
  const replays = createReplayRunner({ ...deps, ...delivery, onReplayed: () => worker.hint() })
  worker.start()
  replays.start()
  return {
    async close() {
      await replays.close()
      await delivery.close()
    },
  }
}
