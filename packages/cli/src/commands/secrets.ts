/** `strongroom secrets …`: the secrets of the server itself, by name and version, never by value. */
import { systemClock } from '@strongroom/kit/clock'
import type { SecretVersion } from '@strongroom/kit/secret-versions'
import { createServerSecrets, type KeptSecrets } from '@strongroom/kit/server-secrets'
import type { Command, CommandInput } from '../command.ts'
import { secondsOf } from '../duration.ts'
import { withKms } from '../with-store.ts'

const DEFAULT_OVERLAP = '30d'

export const secretsList: Command = {
  name: 'secrets list',
  summary: 'List the secrets of the server: names, versions and ages',
  run: (input) =>
    withSecrets(input, async (secrets) => {
      const found = await secrets.list()
      input.output.result(found.map(line).join('') || 'There are no secrets yet\n', found)
    }),
}

export const secretsRotate: Command = {
  name: 'secrets rotate',
  args: 'NAME',
  summary: 'Make a new version of a secret of the server',
  options: {
    overlap: {
      value: 'TIME',
      summary: `How long older versions are honoured (${DEFAULT_OVERLAP}); 0s ends them at once`,
    },
  },
  about: `Running servers notice within a minute. The new version is used two minutes later, when all
of them have; what was made with older ones is honoured for the overlap after that.
With --overlap 0s it is used at once, and what was made before is worth nothing any more.`,
  async run(input) {
    const overlapSeconds = secondsOf('overlap', String(input.options['overlap'] ?? DEFAULT_OVERLAP))
    await withSecrets(input, async (secrets) => {
      const name = input.args[0] ?? ''
      const made = await secrets.rotate(name, { overlapSeconds })
      const until = made.activeFrom + overlapSeconds
      input.output.result(
        `${name} has version ${made.version}, in use from ${moment(made.activeFrom)} on; older ones end ${moment(until)}\n`,
        { ...made, olderAcceptedUntil: until },
      )
    })
  },
}

async function withSecrets(
  input: CommandInput,
  work: (secrets: KeptSecrets) => Promise<void>,
): Promise<void> {
  await withKms(input, ({ db }, { key }) =>
    work(createServerSecrets({ db, key, clock: systemClock })),
  )
}

function line({ name, version, createdAt, acceptedUntil }: SecretVersion): string {
  const days = Math.floor((systemClock.now() / 1000 - createdAt) / 86_400)
  const end = acceptedUntil === undefined ? '' : `, honoured until ${moment(acceptedUntil)}`
  return `${name}  version ${version}, made ${moment(createdAt)} (${days} ${days === 1 ? 'day' : 'days'} ago)${end}\n`
}

function moment(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
