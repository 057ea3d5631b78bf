import { setTimeout } from 'node:timers/promises'
import { createMetrics } from '@strongroom/kit/metrics'
import { ferryhookService } from '@strongroom/ferryhook/service'
import { type FerryhookWorker, startFerryhookWorker } from '@strongroom/ferryhook/start'
import { createServiceDeps } from '@strongroom/server/service-deps'
import { openOnce } from '@strongroom/kit/open-once'
import { type LambdaContext, openRuntime, requirePublicUrl } from '../runtime.ts'
import { type BatchResult, findDueTime, type StreamEvent } from '../stream-event.ts'
import { createWorkReport, type WorkReport } from '../work-report.ts'

/** Longer than an attempt takes. */
const ATTEMPT_MS = 20_000

interface OpenWorker {
  worker: FerryhookWorker
  report: WorkReport
}

const runtime = openOnce(() => openRuntime([ferryhookService]))
let open = openOnce(startWorker)

async function startWorker(): Promise<OpenWorker> {
  const opened = await runtime()
  requirePublicUrl(opened)
  // Each worker registers its own: a second one after a late run would find the names taken.
  const metrics = createMetrics()
  const deps = createServiceDeps({ ...opened, metrics, services: [ferryhookService] })
  const worker = await startFerryhookWorker(deps)
  return { worker, report: createWorkReport({ metrics, log: opened.log }) }
}

/** For the stream of the events table and for a schedule. */
export async function handler(
  event: Partial<StreamEvent>,
  context: LambdaContext,
): Promise<BatchResult | undefined> {
  const { resume, rest } = await runtime()
  await resume()
  try {
    return await handle(event, context)
  } finally {
    rest()
  }
}

async function handle(
  { Records }: Partial<StreamEvent>,
  context: LambdaContext,
): Promise<BatchResult | undefined> {
  if (Records === undefined) {
    await runDue(context)
    const { worker, report } = await open()
    await worker.extendOverdue()
    await report((await worker.readBacklog()).overdue)
    return undefined
  }
  const dueAt = findDueTime({ Records }, Date.now())
  if (dueAt === undefined) return { batchItemFailures: [] }
  try {
    await setTimeout(Math.max(0, dueAt - Date.now()))
    await runDue(context)
    return { batchItemFailures: [] }
  } catch (error) {
    const { log } = await runtime()
    log.error('due tasks not run, Lambda repeats the batch', { error })
    const [first] = Records
    return {
      batchItemFailures: first ? [{ itemIdentifier: first.dynamodb.SequenceNumber }] : [],
    }
  }
}

/** Stops taking work when there is no time for another attempt; the next invocation continues. */
async function runDue(context: LambdaContext): Promise<void> {
  const { worker, report } = await open()
  const ending = new AbortController()
  const lateMs = Math.max(0, context.getRemainingTimeInMillis() - ATTEMPT_MS)
  const late = setTimeout(lateMs, 'late' as const, { signal: ending.signal }).catch(() => undefined)
  try {
    if ((await Promise.race([worker.runDue(), late])) !== 'late') return
    open = openOnce(startWorker)
    await worker.close()
  } finally {
    ending.abort()
    await report()
  }
}
