/** `strongroom replays …`: the replays of many events that were started. */
import { systemClock } from '@strongroom/kit/clock'
import { type Command, type CommandInput, UsageError } from '../command.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { isId } from '../ferryhook/find.ts'
import { outcomeText, replaysText } from '../ferryhook/replay-text.ts'
import type { Page, Replay } from '../ferryhook/views.ts'

export const replaysList: Command = {
  name: 'replays list',
  summary: 'List the replays of many events of the last 30 days, newest first',
  options: atFerryhook,
  async run(input) {
    const { items } = await ferryhookAt(accessIn(input))<Page<Replay>>('GET', '/replays')
    input.output.result(replaysText(items, systemClock.now()), items)
  },
}

export const replaysCancel: Command = {
  name: 'replays cancel',
  args: 'REPLAY',
  summary: 'Cancel a replay; what was replayed until then stays so',
  options: atFerryhook,
  async run(input) {
    const id = replayIn(input)
    const replay = await ferryhookAt(accessIn(input))<Replay>('DELETE', `/replays/${id}`)
    input.output.result(outcomeText(replay), replay)
  },
}

function replayIn({ args: [given = ''] }: CommandInput): string {
  if (isId('rpl', given)) return given
  throw new UsageError(
    'A replay is named by its id, rpl_ and 16 characters: see "strongroom replays list"',
  )
}
