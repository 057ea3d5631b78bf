/** `strongroom secrets …`: lists and rotates server secrets, never shows their values. */
import { systemClock } from '@strongroom/platform/clock'
import type { SecretVersion } from '@strongroom/kit/secret-versions'
import { createServerSecrets, type ServerSecretsAdmin } from '@strongroom/kit/server-secrets'
import { createSecretService } from '@strongroom/server/secrets/service'
import type { Command, CommandInput } from '../command.ts'
import { parseDuration, pluralize } from '../output.ts'
import { withAuditedKms } from '../server/audited-store.ts'
import { withKms } from '../store.ts'

const DEFAULT_OVERLAP = '30d'

const secretsList: Command = {
  name: 'secrets list',
  summary: 'List server secrets: names, versions and ages',
  run: (input) =>
    withSecrets(input, async (secrets) => {
      const found = await secrets.list()
      input.output.result(found.map(line).join('') || 'There are no secrets yet\n', found)
    }),
}

const secretsRotate: Command = {
  name: 'secrets rotate',
  args: 'NAME',
  summary: 'Rotate a server secret',
  options: {
    overlap: {
      value: 'TIME',
      summary: `How long older versions stay valid (${DEFAULT_OVERLAP}); 0s ends them immediately`,
    },
  },
  about: `Running servers notice within a minute, and use the new version after two minutes, when all of them
know it. Older versions stay valid for the overlap after that. With --overlap 0s the new version is
used immediately, and everything made with older ones becomes invalid.`,
  async run(input) {
    const overlapSeconds = parseDuration(
      'overlap',
      String(input.options['overlap'] ?? DEFAULT_OVERLAP),
    )
    await withAuditedKms(input, async ({ store, kms, auditLog, by }) => {
      const name = input.args[0] ?? ''
      const on = { db: store.db, key: kms.key, clock: systemClock, auditLog }
      const made = await createSecretService(on).rotate(by, name, overlapSeconds)
      const until = made.activeFrom + overlapSeconds
      input.output.result(
        `${name} has version ${made.version}, in use from ${moment(made.activeFrom)}; older ones are accepted until ${moment(until)}\n`,
        { ...made, olderAcceptedUntil: until },
      )
    })
  },
}

async function withSecrets(
  input: CommandInput,
  work: (secrets: ServerSecretsAdmin) => Promise<void>,
): Promise<void> {
  await withKms(input, ({ db }, { key }) =>
    work(createServerSecrets({ db, key, clock: systemClock })),
  )
}

function line({ name, version, createdAt, acceptedUntil }: SecretVersion): string {
  const days = Math.floor((systemClock.now() / 1000 - createdAt) / 86_400)
  const end = acceptedUntil === undefined ? '' : `, accepted until ${moment(acceptedUntil)}`
  return `${name}  version ${version}, created ${moment(createdAt)} (${pluralize(days, 'day')} ago)${end}\n`
}

function moment(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export const commands: readonly Command[] = [secretsList, secretsRotate]
