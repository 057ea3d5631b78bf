import { UsageError } from '../command.ts'

/** Whoever names nothing has mistyped something, or does not know the options yet. */
export function refuseNothing(command: string, given: object): void {
  if (Object.values(given).some((value) => value !== undefined)) return
  throw new UsageError(`Say what to change: run "strongroom ${command} --help"`)
}
