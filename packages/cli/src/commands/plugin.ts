/** `strongroom plugin …`: signs plugin releases offline and publishes them. */
import { readFile } from 'node:fs/promises'
import { systemClock } from '@strongroom/platform/clock'
import { createPrivateFile, replaceFile } from '@strongroom/platform/private-file'
import { requireTables } from '@strongroom/server/tables'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { publishOn, releasesOn } from '../form-bridge/store.ts'
import { newSigningKey, readPackageFacts, signPackage } from '../form-bridge/plugin-signing.ts'
import { formBridgeTables } from '../form-bridge/site-access.ts'
import { serverOption, createOperatorClientIfRequested } from '../api-client.ts'
import { withStore } from '../store.ts'

/** Signatures are published. */
const PUBLIC_FILE = 0o644

interface ReleaseLine {
  version: string
  status: string
  file_size: number
  sha256: string
}

const pluginKeygen: Command = {
  name: 'plugin keygen',
  summary: 'Create a release signing key and print its public half',
  options: { out: { value: 'FILE', summary: 'File for the private key (release.key)' } },
  about: `Keep the private key off the server. The public half goes into the plugin, which trusts nothing
else, and into FORM_BRIDGE_RELEASE_KEYS of the server.`,
  async run({ options, output }) {
    const file = String(options['out'] ?? 'release.key')
    const { pem, publicKey } = newSigningKey()
    await writeNewFile(file, pem).catch(rethrowFileError(file, 'written'))
    output.progress(`The private key is in ${file}: keep it off the server`)
    output.result(`${publicKey}\n`, { file, publicKey })
  },
}

const pluginSign: Command = {
  name: 'plugin sign',
  args: 'ZIP',
  summary: 'Sign a plugin package and write the signature beside it',
  options: { key: { value: 'FILE', summary: 'Private key file (release.key)' } },
  async run({ args: [file = ''], options, output }) {
    const keyFile = String(options['key'] ?? 'release.key')
    const [zip, pem] = [await readBytes(file), await readBytes(keyFile)]
    const signed = signPackage(zip, pem.toString())
    await replaceFile(`${file}.sig`, `${signed.signature}\n`, PUBLIC_FILE).catch(
      rethrowFileError(`${file}.sig`, 'written'),
    )
    const { slug, version } = signed
    output.result(`${slug} ${version} is signed: ${file}.sig\n`, { ...signed, file: `${file}.sig` })
  },
}

const pluginPublish: Command = {
  name: 'plugin publish',
  args: 'ZIP',
  summary: 'Publish a signed package as an update for all sites',
  options: {
    signature: {
      value: 'FILE',
      summary: 'Signature file (written by "plugin sign" beside the package)',
    },
    ...serverOption,
  },
  async run(input) {
    const [file = ''] = input.args
    const zip = await readBytes(file)
    const signatureFile = String(input.options['signature'] ?? `${file}.sig`)
    const signature = (await readBytes(signatureFile)).toString().trim()
    const { slug, version } = readPackageFacts(zip)
    const release = await publish(input, { slug, version, signature, zip })
    input.output.result(`${slug} ${version} is published\n`, release)
  },
}

const pluginVersions: Command = {
  name: 'plugin versions',
  args: '[SLUG]',
  summary: 'List releases of a plugin (form-bridge), highest version first',
  options: serverOption,
  async run(input) {
    const [slug = 'form-bridge'] = input.args
    if (!/^[a-z0-9-]{1,64}$/.test(slug))
      throw usageError('SLUG must have 1 to 64 lower-case letters, digits and hyphens')
    const found = await listVersions(input, slug)
    const lines = found.map(
      ({ version, status, file_size, sha256 }) =>
        `${version}  ${status}  ${file_size} bytes  sha256 ${sha256}\n`,
    )
    input.output.result(lines.join('') || `There are no releases of ${slug}\n`, found)
  },
}

async function publish(
  input: CommandInput,
  release: { slug: string; version: string; signature: string; zip: Uint8Array },
): Promise<ReleaseLine> {
  const { slug, version, signature, zip } = release
  const api = createOperatorClientIfRequested(input, 'form-bridge')
  if (api) {
    const headers = { 'content-type': 'application/zip', 'x-fb-release-signature': signature }
    return api('PUT', `/plugins/${slug}/${encodeURIComponent(version)}`, zip, headers)
  }
  return withStore(input, async (store, configured) => {
    await requireTables(store, formBridgeTables())
    const { FORM_BRIDGE_RELEASE_KEYS: keys } = configured as { FORM_BRIDGE_RELEASE_KEYS?: string[] }
    const on = { db: store.db, clock: systemClock }
    return toReleaseLine(await publishOn(on, keys ?? []).publish(release))
  })
}

async function listVersions(input: CommandInput, slug: string): Promise<ReleaseLine[]> {
  const api = createOperatorClientIfRequested(input, 'form-bridge')
  if (api) return (await api<{ items: ReleaseLine[] }>('GET', `/plugins/${slug}/versions`)).items
  return withStore(input, async (store) => {
    await requireTables(store, formBridgeTables())
    return (await releasesOn({ db: store.db, clock: systemClock }, slug)).map(toReleaseLine)
  })
}

function toReleaseLine({ version, status, file_size, sha256 }: ReleaseLine): ReleaseLine {
  return { version, status, file_size, sha256 }
}

async function writeNewFile(file: string, text: string): Promise<void> {
  await using handle = await createPrivateFile(file)
  await handle.writeFile(text)
}

async function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch(rethrowFileError(file, 'read'))
}

function rethrowFileError(file: string, what: 'read' | 'written') {
  return (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EEXIST') throw usageError(`${file} already exists: choose another file`)
    throw usageError(
      `${file} cannot be ${what} (${error.code ?? 'unknown reason'}): check its path`,
    )
  }
}

export const commands: readonly Command[] = [
  pluginKeygen,
  pluginSign,
  pluginPublish,
  pluginVersions,
]
