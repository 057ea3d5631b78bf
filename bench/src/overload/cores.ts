// Processes that are pinned to one core each, so that load and server do not compete.

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

export const SERVER_CORE = 0
export const GENERATOR_CORE = 1

export function pinned(core: number, command: readonly string[]): [string, ...string[]] {
  return ['taskset', '--cpu-list', String(core), ...command]
}

/** Why processes cannot be pinned here; undefined if they can. */
export function pinningProblem(): string | undefined {
  if (availableParallelism() < 2) return 'not measured: it needs two cores'
  const { status } = spawnSync('taskset', ['--cpu-list', String(SERVER_CORE), 'true'])
  return status === 0 ? undefined : 'not measured: it needs taskset (Linux, package util-linux)'
}
