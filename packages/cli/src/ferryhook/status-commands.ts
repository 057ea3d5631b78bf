/** `pause`, `resume` and `remove`, which sources and connections have in common. */
import type { Command } from '../command.ts'
import { escapeControls } from '../output.ts'
import type { ApiClient } from '../api-client.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from './api.ts'

interface Named {
  id: string
  name: string
  status: string
}

export function createStatusCommands(options: {
  kind: 'sources' | 'connections'
  args: string
  find(ask: ApiClient, given: string): Promise<Named>
  summaries: Record<'pause' | 'resume' | 'remove', string>
}): Record<'pause' | 'resume' | 'remove', Command> {
  const { kind, args, find, summaries } = options

  const changing = (action: 'pause' | 'resume'): Command => ({
    name: `${kind} ${action}`,
    args,
    summary: summaries[action],
    options: ferryhookOptions,
    async run(input) {
      const ask = createFerryhookClient(parseAccess(input))
      const { id } = await find(ask, input.args[0] ?? '')
      const changed = await ask<Named>('POST', `/${kind}/${id}/${action}`)
      input.output.result(`${escapeControls(changed.name)} is ${changed.status}\n`, changed)
    },
  })

  return {
    pause: changing('pause'),
    resume: changing('resume'),
    remove: {
      name: `${kind} remove`,
      args,
      summary: summaries.remove,
      options: ferryhookOptions,
      async run(input) {
        const ask = createFerryhookClient(parseAccess(input))
        const { id, name } = await find(ask, input.args[0] ?? '')
        await ask('DELETE', `/${kind}/${id}`)
        input.output.result(`${escapeControls(name)} was removed\n`, { id, removed: true })
      },
    },
  }
}
