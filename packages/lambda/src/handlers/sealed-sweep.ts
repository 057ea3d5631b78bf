import { sweepSecrets } from '@strongroom/sealed/start'
import { openOnce } from '@strongroom/kit/open-once'
import { openRuntime } from '../runtime.ts'

const runtime = openOnce(() => openRuntime([]))

/** For a schedule. What is not finished in time is found by the next run. */
export async function handler(): Promise<void> {
  const { store, clock, log, resume, rest } = await runtime()
  await resume()
  const { checked, invalid } = await sweepSecrets({ db: store.db, clock, log })
  const [error] = invalid
  if (error) log.error('secrets unreadable', { count: invalid.length, error })
  log.debug('secrets swept', { checked })
  rest()
}
