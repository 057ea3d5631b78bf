/** `pause`, `resume` and `remove` for sources and connections. */
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
  find(api: ApiClient, given: string): Promise<Named>
  summaries: Record<'pause' | 'resume' | 'remove', string>
}): Record<'pause' | 'resume' | 'remove', Command> {
  const { kind, args, find, summaries } = options

  const statusCommand = (action: 'pause' | 'resume'): Command => ({
    name: `${kind} ${action}`,
    kind: 'client',
    args,
    summary: summaries[action],
    options: ferryhookOptions,
    async run(input) {
      const api = createFerryhookClient(parseAccess(input))
      const { id } = await find(api, input.args[0] ?? '')
      const changed = await api<Named>('POST', `/${kind}/${id}/${action}`)
      input.output.result(`${escapeControls(changed.name)} is ${changed.status}\n`, changed)
    },
  })

  return {
    pause: statusCommand('pause'),
    resume: statusCommand('resume'),
    remove: {
      name: `${kind} remove`,
      kind: 'client',
      args,
      summary: summaries.remove,
      options: ferryhookOptions,
      async run(input) {
        const api = createFerryhookClient(parseAccess(input))
        const { id, name } = await find(api, input.args[0] ?? '')
        await api('DELETE', `/${kind}/${id}`)
        input.output.result(`${escapeControls(name)} was removed\n`, { id, removed: true })
      },
    },
  }
}
