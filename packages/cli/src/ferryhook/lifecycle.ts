/** What is done in one way to sources and to connections: pausing, resuming and removing them. */
import type { Command } from '../command.ts'
import { printable } from '../for-people.ts'
import type { Ask } from '../service-api.ts'
import { accessIn, atFerryhook, ferryhookAt } from './api.ts'

interface Named {
  id: string
  name: string
  status: string
}

export function lifecycleCommands(options: {
  kind: 'sources' | 'connections'
  args: string
  find(ask: Ask, given: string): Promise<Named>
  summaries: Record<'pause' | 'resume' | 'remove', string>
}): Record<'pause' | 'resume' | 'remove', Command> {
  const { kind, args, find, summaries } = options

  const changing = (action: 'pause' | 'resume'): Command => ({
    name: `${kind} ${action}`,
    args,
    summary: summaries[action],
    options: atFerryhook,
    async run(input) {
      const ask = ferryhookAt(accessIn(input))
      const { id } = await find(ask, input.args[0] ?? '')
      const changed = await ask<Named>('POST', `/${kind}/${id}/${action}`)
      input.output.result(`${printable(changed.name)} is ${changed.status}\n`, changed)
    },
  })

  return {
    pause: changing('pause'),
    resume: changing('resume'),
    remove: {
      name: `${kind} remove`,
      args,
      summary: summaries.remove,
      options: atFerryhook,
      async run(input) {
        const ask = ferryhookAt(accessIn(input))
        const { id, name } = await find(ask, input.args[0] ?? '')
        await ask('DELETE', `/${kind}/${id}`)
        input.output.result(`${printable(name)} is gone\n`, { id, removed: true })
      },
    },
  }
}
