/** `strongroom operator …`: who may administer the server. Works on any store. */
import { systemClock } from '@strongroom/platform/clock'
import { createOperators, type Operators } from '@strongroom/kit/operators'
import { serverTable } from '@strongroom/kit/server-table'
import { requireTables } from '@strongroom/server/tables'
import { refuseServer } from '../api-client.ts'
import type { Command, CommandInput } from '../command.ts'
import { withStore } from '../store.ts'

const operatorAdd: Command = {
  name: 'operator add',
  kind: 'either',
  creates: true,
  args: 'NAME',
  summary: 'Add an operator and print its token (shown once)',
  run: (input) =>
    withOperators(input, async (operators, name) => {
      const token = await operators.add(name)
      input.output.result(`${token}\n`, { name, token })
    }),
}

const operatorRotate: Command = {
  name: 'operator rotate',
  kind: 'either',
  args: 'NAME',
  summary: "Replace an operator's token and print the new one (shown once)",
  about: 'The old token becomes invalid immediately.',
  run: (input) =>
    withOperators(input, async (operators, name) => {
      const token = await operators.rotate(name)
      input.output.result(`${token}\n`, { name, token })
    }),
}

const operatorList: Command = {
  name: 'operator list',
  kind: 'either',
  summary: 'List the operators',
  run: (input) =>
    withOperators(input, async (operators) => {
      const found = await operators.list()
      const lines = found.map(({ name, createdAt, rotatedAt }) => {
        const rotated = rotatedAt === undefined ? '' : `, token rotated ${day(rotatedAt)}`
        return `${name}  added ${day(createdAt)}${rotated}\n`
      })
      input.output.result(lines.join('') || 'There are no operators\n', found)
    }),
}

const operatorRemove: Command = {
  name: 'operator remove',
  kind: 'either',
  args: 'NAME',
  summary: 'Remove an operator; its token becomes invalid immediately',
  run: (input) =>
    withOperators(input, async (operators, name) => {
      await operators.remove(name)
      input.output.result(`${name} was removed\n`, { name, removed: true })
    }),
}

async function withOperators(
  input: CommandInput,
  work: (operators: Operators, name: string) => Promise<void>,
): Promise<void> {
  refuseServer(input)
  await withStore(input, async (store) => {
    await requireTables(store, [serverTable])
    await work(createOperators({ db: store.db, clock: systemClock }), input.args[0] ?? '')
  })
}

function day(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().slice(0, 10)
}

export const commands: readonly Command[] = [
  operatorAdd,
  operatorList,
  operatorRotate,
  operatorRemove,
]
