/** `strongroom replays …`: lists and cancels replay jobs. */
import { systemClock } from '@strongroom/platform/clock'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from '../ferryhook/api.ts'
import { isId } from '../ferryhook/find.ts'
import { outcomeText, replaysText } from '../ferryhook/text.ts'
import type { Page, Replay } from '../ferryhook/views.ts'

const replaysList: Command = {
  name: 'replays list',
  kind: 'client',
  summary: 'List replay jobs of the last 30 days, newest first',
  options: ferryhookOptions,
  async run(input) {
    const { items } = await createFerryhookClient(parseAccess(input))<Page<Replay>>(
      'GET',
      '/replays',
    )
    input.output.result(replaysText(items, systemClock.now()), items)
  },
}

const replaysCancel: Command = {
  name: 'replays cancel',
  kind: 'client',
  args: 'REPLAY',
  summary: 'Cancel a replay job; events replayed so far stay replayed',
  options: ferryhookOptions,
  async run(input) {
    const id = parseReplayId(input)
    const replay = await createFerryhookClient(parseAccess(input))<Replay>(
      'DELETE',
      `/replays/${id}`,
    )
    input.output.result(outcomeText(replay), replay)
  },
}

function parseReplayId({ args: [given = ''] }: CommandInput): string {
  if (isId('rpl', given)) return given
  throw usageError('REPLAY must be an id, rpl_ and 16 characters: see "strongroom replays list"')
}

export const commands: readonly Command[] = [replaysList, replaysCancel]
