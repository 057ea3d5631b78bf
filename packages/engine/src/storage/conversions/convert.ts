// Converts a data directory of an older format before it is opened. One process at a time converts, and
// only while no other one has the directory open:
//
// 1. It claims the directory in the format file, inside a write transaction of LMDB, so that of several
//    processes one succeeds. From then on no program opens it, whatever its version.
// 2. It waits until LMDB's table of readers shows no other process; if one stays, it gives the claim up.
// 3. It copies the directory, then converts it in batches, each with its position in one transaction.
// 4. It writes the new format. Whatever dies before that is continued by the next start.

import { setTimeout as sleep } from 'node:timers/promises'
import { resolve } from 'node:path'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { openAnyFormat } from '../lmdb/environment.ts'
import { cannotOpen, DataError, failureCode, writeAdvice } from '../lmdb/failures.ts'
import { FORMAT_VERSION, readFormat, writeFormat } from '../lmdb/format.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import type { Conversion, Position } from './conversion.ts'
import { copyName, freeBytes, makeCopy, removeCopy, spaceFor } from './copy.ts'
import { conversions as allConversions } from './list.ts'
import type { ConversionProgress } from './progress.ts'

export interface ConvertOptions {
  onProgress?: ((progress: ConversionProgress) => void) | undefined
  clock?: Clock
  /** For tests: other conversions than those of this version. */
  conversions?: readonly Conversion[]
  /** For tests: the free space of the disk. */
  free?: (directory: string) => number
  /** For tests: waits before it looks again. */
  pause?: (ms: number) => Promise<unknown>
}

/** Another process that starts at the same time leaves at once; a server that runs does not. */
const MAX_LOOKS = 50
const LOOK_MS = 100
const WAIT_MS = 500

/** Conversions of this process by directory: LMDB shows other processes only. */
const running = new Map<string, Promise<void>>()

/** Does nothing if the directory is new, has the current format or cannot be converted. */
export async function convertDirectory(given: string, options: ConvertOptions = {}): Promise<void> {
  const directory = resolve(given)
  const before = running.get(directory) ?? Promise.resolve()
  const own = before.catch(() => undefined).then(() => convertWhenFree(directory, options))
  running.set(directory, own)
  try {
    await own
  } finally {
    if (running.get(directory) === own) running.delete(directory)
  }
}

async function convertWhenFree(directory: string, options: ConvertOptions): Promise<void> {
  const { conversions = allConversions, pause = sleep, onProgress } = options
  const target = conversions.at(-1)?.to ?? FORMAT_VERSION
  for (let told: number | undefined; ;) {
    const found = readFormat(directory)
    const oldest = (conversions[0]?.to ?? target) - 1
    if (!found || found.format > target || found.format < oldest) return
    if (found.format === target && !found.converting) return
    const owner = await attempt(directory, target, { ...options, conversions, pause })
    if (owner === undefined) return
    if (owner !== told) onProgress?.({ kind: 'waiting', pid: owner })
    told = owner
    await pause(WAIT_MS)
  }
}

type Attempt = ConvertOptions & Required<Pick<ConvertOptions, 'conversions' | 'pause'>>

/** Returns the process that is converting the directory, or undefined when it is converted. */
async function attempt(
  directory: string,
  target: number,
  options: Attempt,
): Promise<number | undefined> {
  const env = openAnyFormat(directory)
  try {
    const claimed = claim(env, directory, target)
    if (claimed.kind === 'owned') return claimed.pid
    if (claimed.kind === 'claimed') await convert(env, directory, target, options)
    return undefined
  } finally {
    await env.close()
  }
}

type Claim = { kind: 'claimed' } | { kind: 'owned'; pid: number } | { kind: 'done' }

function claim(env: Environment, directory: string, target: number): Claim {
  return env.root.transactionSync((): Claim => {
    const { format, converting } = readFormat(directory)!
    if (format === target && !converting) return { kind: 'done' }
    if (converting && env.otherProcesses().includes(converting.pid)) {
      return { kind: 'owned', pid: converting.pid }
    }
    const from = converting?.from ?? format
    const { pid } = process
    writeFormat(directory, { format: target, converting: { ...converting, from, pid } })
    return { kind: 'claimed' }
  })
}

async function convert(
  env: Environment,
  directory: string,
  target: number,
  options: Attempt,
): Promise<void> {
  const { onProgress, clock = systemClock } = options
  const { from } = readFormat(directory)!.converting!
  try {
    await requireAlone(env, directory, options.pause)
    const backup = await requireCopy(env, directory, target, options, clock)
    for (const conversion of options.conversions) {
      if (conversion.to > reachedFormat(env, from)) await run(env, directory, conversion, options)
    }
    writeFormat(directory, { format: target })
    onProgress?.({ kind: 'converted', from, to: target, backup })
  } catch (error) {
    if (!hasBegun(env, from)) withdraw(directory, from)
    throw error
  }
}

/** Before the first batch nothing is different: the version that wrote the directory may open it again. */
function withdraw(directory: string, from: number): void {
  const { backup } = readFormat(directory)!.converting!
  writeFormat(directory, { format: from })
  if (backup !== undefined) removeCopy(directory, backup)
}

async function requireAlone(
  env: Environment,
  directory: string,
  pause: Attempt['pause'],
): Promise<void> {
  for (let looks = 1; ; looks++) {
    const [other] = env.otherProcesses()
    if (other === undefined) return
    if (looks === MAX_LOOKS) {
      throw cannotOpen(
        directory,
        `it must be converted to the format of this version, but process ${other} has it open: stop every server, worker and command of the older version, then start again`,
      )
    }
    await pause(LOOK_MS)
  }
}

/** Returns the path of the copy, which an earlier attempt may have made. */
async function requireCopy(
  env: Environment,
  directory: string,
  target: number,
  { conversions, free = freeBytes, onProgress }: Attempt,
  clock: Clock,
): Promise<string> {
  const converting = readFormat(directory)!.converting!
  const { from } = converting
  if (converting.backup !== undefined) return resolve(directory, converting.backup)
  const pending = conversions.filter(({ to }) => to > from)
  const growth = pending.reduce((sum, each) => sum + each.growth, 0)
  const space = spaceFor(env, growth, free, directory)
  if (space.freeBytes < space.neededBytes) {
    throw cannotOpen(
      directory,
      `it must be converted to the format of this version, which needs ${megabytes(space.neededBytes)} of free disk space for a copy of it, and ${megabytes(space.freeBytes)} are free: free some space or enlarge the disk, then start again. Nothing was changed`,
    )
  }
  const name = copyName(from, clock.now())
  onProgress?.({ kind: 'copying', from, to: target, backup: resolve(directory, name) })
  await makeCopy(env, directory, name, from)
  writeFormat(directory, { format: target, converting: { ...converting, backup: name } })
  return resolve(directory, name)
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}

/** In `meta`, from the first batch of the first conversion on. */
interface State {
  /** The newest format that is complete. */
  reached: number
  /** Where the conversion to the next one continues. */
  position?: Position
}

const STATE_KEY = 'conversion'

function readState(env: Environment): State | undefined {
  return env.meta.get(STATE_KEY) as State | undefined
}

function reachedFormat(env: Environment, from: number): number {
  return Math.max(from, readState(env)?.reached ?? 0)
}

function hasBegun(env: Environment, from: number): boolean {
  const state = readState(env)
  return state !== undefined && (state.reached > from || state.position !== undefined)
}

async function run(
  env: Environment,
  directory: string,
  conversion: Conversion,
  { onProgress, pause }: Attempt,
): Promise<void> {
  const { to, summary } = conversion
  const total = conversion.total?.(env)
  for (;;) {
    const done = convertBatch(env, directory, conversion)
    onProgress?.({ kind: 'converting', to, summary, done: done ?? total ?? 0, total })
    if (done === undefined) return
    // Signals and requests get their turn.
    await pause(0)
  }
}

/** Returns how much is done; undefined if nothing is left. */
function convertBatch(
  env: Environment,
  directory: string,
  { to, step }: Conversion,
): number | undefined {
  try {
    return env.root.transactionSync(() => {
      const state = readState(env)
      const position = step(env, state?.reached === to - 1 ? state.position : undefined)
      const next: State = position ? { reached: to - 1, position } : { reached: to }
      env.meta.putSync(STATE_KEY, next)
      return position?.done
    })
  } catch (error) {
    if (error instanceof DataError) throw error
    const reason = writeAdvice(directory, failureCode(error)) ?? String(error)
    throw cannotOpen(
      directory,
      `its conversion to format ${to} stopped: ${reason}. Start again to continue it`,
      error,
    )
  }
}
