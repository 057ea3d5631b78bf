/** `strongroom copy`: copies a store to another one, with its keys re-wrapped for the other KMS. */
import { systemClock } from '@strongroom/platform/clock'
import type { OpenKms } from '@strongroom/server/kms/open'
import type { Command, CommandInput } from '../command.ts'
import { reportJson, reportText } from '../copy/report.ts'
import { createRewrapper } from '../copy/rewrap.ts'
import { checkRewrapping, requireStopped, runCopy, tablesToCopy } from '../copy/run-copy.ts'
import { type CopySession, Stopped } from '../copy/session.ts'
import { openSide, openSideKms, requireDifferent, type Side, sideOptions } from '../copy/side.ts'
import { beginCopy, prepareTables } from '../copy/target.ts'
import { stopSignal } from '../stop-signal.ts'

/** The exit code that shells use for SIGINT. */
const INTERRUPTED = 130

const copyCommand: Command = {
  name: 'copy',
  kind: 'store',
  creates: true,
  summary: 'Copy a store to another one, also between a directory, an endpoint and AWS',
  options: {
    ...sideOptions,
    'with-sealed': {
      summary: 'Also copy secrets of Sealed that can still be opened; they then exist twice',
    },
    'while-running': { summary: 'The source is in use: then also copy what changes meanwhile' },
    'create-tables': { summary: 'Create missing tables on an endpoint or AWS' },
    overwrite: {
      summary: 'Replace what the target has; items that the source does not have are deleted',
    },
  },
  about: `Copies all tables, re-wraps what KMS has wrapped for the KMS key of the target, and compares both
sides at the end. Run the same command again after an interruption: it continues, and until it has
finished no server starts on the target. aws uses AWS_REGION, or the region in aws:REGION. Both sides
use the same AWS credentials. The keys of the embedded KMS are not copied. docs/moving.md leads
through each direction.`,
  async run(input) {
    const stopping = new AbortController()
    void stopSignal().then(() => stopping.abort())
    const opened: { close(): Promise<void> }[] = []
    try {
      return await copyStore(input, stopping.signal, (each) => void opened.push(each))
    } catch (error) {
      if (!(error instanceof Stopped)) throw error
      input.output.result('Stopped: run the same command again to continue\n', { stopped: true })
      return INTERRUPTED
    } finally {
      for (const each of opened.toReversed()) await each.close()
    }
  },
}

async function copyStore(
  input: CommandInput,
  stop: AbortSignal,
  closeLater: (opened: { close(): Promise<void> }) => void,
): Promise<void> {
  const { options, output } = input
  const clock = systemClock
  const whileRunning = options['while-running'] === true
  const withSealed = options['with-sealed'] === true
  const open = async (name: Side['name']): Promise<Side> => {
    const side = await openSide(input, name)
    closeLater(side.store)
    return side
  }
  const openKms = async (side: Side): Promise<OpenKms> => {
    const kms = await openSideKms(input, side, clock)
    closeLater(kms)
    return kms
  }

  // Everything about the source first: if it is unusable, no target is created.
  const from = await open('from')
  const tables = await tablesToCopy(from, withSealed)
  if (!whileRunning)
    await requireStopped(from, clock, 'stop it, or pass --while-running; nothing was changed')
  const fromKms = await openKms(from)
  const to = await open('to')
  requireDifferent(from, to)
  await requireStopped(to, clock, 'stop it; nothing was changed')
  await prepareTables(to, options['create-tables'] === true)
  const toKms = await openKms(to)
  const session: CopySession = {
    source: from.store.db,
    target: to.store.db,
    rewrapper: createRewrapper(fromKms, toKms),
    clock,
    stop,
    progress: output.progress,
  }
  await checkRewrapping(session)
  const progress = await beginCopy(
    to,
    { source: from.label, kmsArn: toKms.key.arn },
    { overwrite: options['overwrite'] === true, clock },
  )
  const outcome = await runCopy(session, { from, to }, tables, progress, { whileRunning })
  const report = {
    ...outcome,
    from: from.label,
    to: to.label,
    isResumed: progress.isResumed,
    withSealed,
    whileRunning,
  }
  output.result(reportText(report), reportJson(report))
}

export const commands: readonly Command[] = [copyCommand]
