/** Runs the steps of a Dockerfile without a container engine. Knows only what ours uses, and refuses the rest. */
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRoot, exec, type Root } from './debian.ts'

export interface Image {
  root: Root
  env: Record<string, string>
  user: string
  workdir: string
  stopSignal: string
  volume: string
  healthcheck: string[]
  /** The entry point with its default arguments. */
  command: string[]
}

interface Instruction {
  name: string
  text: string
}

/** Comments are lines of their own, and a backslash continues a line. */
export function parseDockerfile(text: string): Instruction[] {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.split(' ')
      return { name, text: rest.join(' ').trim() }
    })
}

/** Every stage starts with an empty Debian in place of its image. The caller removes the roots. */
export async function buildImage(context: string, roots: Root[]): Promise<Image> {
  const instructions = parseDockerfile(await readFile(join(context, 'Dockerfile'), 'utf8'))
  const stages = new Map<string, Image>()
  let image: Image | undefined
  for (const { name, text } of instructions) {
    if (name === 'FROM') {
      image = emptyImage(await createRoot())
      roots.push(image.root)
      const [, stage] = / AS (\S+)$/.exec(text) ?? []
      if (stage !== undefined) stages.set(stage, image)
      continue
    }
    if (!image) throw new Error(`${name} before FROM`)
    await runInstruction({ name, text }, image, { context, stages })
  }
  if (!image) throw new Error('The Dockerfile has no stage')
  return image
}

function emptyImage(root: Root): Image {
  return {
    root,
    env: {},
    user: '0:0',
    workdir: '/',
    stopSignal: '',
    volume: '',
    healthcheck: [],
    command: [],
  }
}

async function runInstruction(
  { name, text }: Instruction,
  image: Image,
  { context, stages }: { context: string; stages: ReadonlyMap<string, Image> },
): Promise<void> {
  const { root } = image
  switch (name) {
    case 'RUN':
      await root.run(text, { cwd: image.workdir, env: image.env })
      return
    case 'COPY': {
      const [, stage, source = '', target = ''] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text) ?? []
      const from = stage === undefined ? undefined : stages.get(stage)
      if (stage !== undefined && !from) throw new Error(`There is no stage ${stage}`)
      if (from) {
        const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true }
        await cp(join(from.root.path, source), join(root.path, target), options)
      } else await copyContext(context, join(root.path, image.workdir, target))
      return
    }
    case 'ENV': {
      const [, key = '', value = ''] = /^(\w+)=(\S+)$/.exec(text) ?? []
      image.env[key] = value
      return
    }
    case 'WORKDIR':
      await root.run(`mkdir -p ${text}`)
      image.workdir = text
      return
    case 'USER':
      image.user = text
      return
    case 'VOLUME':
      image.volume = text
      return
    case 'STOPSIGNAL':
      image.stopSignal = text
      return
    case 'HEALTHCHECK':
      image.healthcheck = execForm(text.slice(text.indexOf('CMD ') + 4))
      return
    case 'ENTRYPOINT':
    case 'CMD':
      image.command.push(...execForm(text))
      return
    case 'EXPOSE':
      return
    default:
      throw new Error(`The test does not know ${name}: keep the Dockerfile plain, or teach it`)
  }
}

/** Only this form runs without a shell, which would not pass signals on. */
function execForm(text: string): string[] {
  return JSON.parse(text) as string[]
}

/** What `.dockerignore` does not exclude. */
async function copyContext(context: string, target: string): Promise<void> {
  const patterns = (await readFile(join(context, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const excluded = patterns.map((pattern) =>
    pattern.startsWith('**/') || pattern.startsWith('*')
      ? `--no-anchored --exclude='${pattern.replace('**/', '')}'`
      : `--anchored --exclude='./${pattern}'`,
  )
  const archive = `tar -C '${context}' ${excluded.join(' ')} -cf - . | tar -C '${target}' -xf -`
  await exec('bash', ['-euo', 'pipefail', '-c', archive])
}
