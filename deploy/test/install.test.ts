/** docs/install.md as it is printed, on a Debian that boots with systemd, with Debian's Node and Caddy. */
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createRoot,
  exec,
  isEnabled,
  nspawnEnvironment,
  repository,
  type Root,
  writeIn,
} from './debian.ts'

const BOOT_TIMEOUT_MS = 600_000
const MAX_EXPOSURE = 20
const UNITS = ['strongroom', 'strongroom-worker', 'strongroom-backup']

/** The blocks of commands in a section, without those that say why they are not run. */
function commandsOf(page: string, section: string): string[] {
  const [text = ''] = page.split(/^(?=## )/m).filter((part) => part.startsWith(`## ${section}\n`))
  const blocks = text.matchAll(/(<!-- not run[^>]*-->\s+)?```sh\n(.*?)```/gs)
  return [...blocks].filter(([, reason]) => !reason).map(([, , commands = '']) => commands)
}

interface Finished {
  code: number
  stdout: string
  stderr: string
}

// oxlint-disable-next-line typescript/no-explicit-any -- as machine.mjs wrote it
type Observed = Record<string, any>

describe.skipIf(!isEnabled)('an empty Debian server', () => {
  let root: Root
  let seen: Observed

  beforeAll(async () => {
    root = await createRoot()
    const page = await readFile(join(repository, 'docs/install.md'), 'utf8')
    const one = (section: string) => {
      const blocks = commandsOf(page, section)
      expect([section, blocks.length]).toEqual([section, 1])
      return blocks[0] ?? ''
    }
    const packed = join(repository, 'dist/npm')
    await exec('npm', ['run', '--silent', 'pack'], { cwd: repository })
    const [tarball = ''] = (await readdir(packed)).filter((name) =>
      /^strongroom-\d.*\.tgz$/.test(name),
    )
    await copyFile(join(packed, tarball), join(root.path, 'root', tarball))
    await root.run(one('1. Node, Caddy and the package'), { cwd: '/root' })

    await mkdir(join(root.path, 'proof'))
    await cp(join(repository, 'deploy'), join(root.path, 'proof/deploy'), { recursive: true })
    for (const name of ['compose.yaml', 'compose.tls.yaml'])
      await copyFile(join(repository, name), join(root.path, 'proof', name))
    await copyFile(
      join(repository, 'deploy/test/machine.mjs'),
      join(root.path, 'proof/machine.mjs'),
    )
    const plan = {
      setUp: one('2. Master key, settings and units'),
      start: one('3. Start'),
      operator: one('4. The first operator'),
      backup: one('5. Backup and restore'),
      worker: one('A separate worker'),
      checks: CHECKS,
    }
    await writeFile(join(root.path, 'proof/plan.json'), JSON.stringify(plan))
    const hosts = [
      'localhost',
      ...['trust', 'sealed', 'other'].map((name) => `${name}.example.com`),
    ]
    await writeIn(root, 'etc/hosts', `127.0.0.1 ${hosts.join(' ')}\n`)
    await writeIn(root, 'etc/systemd/system/proof.service', PROOF_UNIT)
    await root.run(
      'systemctl enable --quiet proof.service && systemctl disable --quiet caddy.service',
    )
    await boot(root)
    seen = JSON.parse(await readFile(join(root.path, 'proof/observed.json'), 'utf8')) as Observed
  }, BOOT_TIMEOUT_MS)
  afterAll(() => root?.remove())

  test('runs every command of the page', () => {
    expect(seen['error']).toBeUndefined()
  })

  test('serves https, leads http there, and has Sealed alone on its own name', () => {
    expect(seen['redirect']).toBe('308 https://trust.example.com/')
    expect(seen['home']).toEqual({ status: 200, hsts: expect.stringContaining('max-age=') })
    expect([seen['console'], seen['sealedPage'], seen['consoleOnSealed']]).toEqual([200, 200, 404])
  })

  test('counts limits by the address that Caddy reports, not by a header of the client', () => {
    expect(seen['oneClient']).toEqual([...Array.from({ length: 10 }, () => 200), 429])
    expect(seen['otherClient']).toBe(200)
  })

  test('gives the first operator a token over https, and has no problem to report', () => {
    expect(seen['bootstrapFile']).toBe(0o600)
    expect(seen['status']).toMatchObject({ address: 'https://trust.example.com' })
    const problems = (seen['status'] as { problems: { title: string }[] }).problems
    expect(problems.map(({ title }) => title)).toEqual([])
  })

  test('runs the server as a user without capabilities', () => {
    const { Uid, ...rest } = seen['process'] as Record<string, string>
    expect(Number(Uid)).toBeGreaterThan(60_000)
    expect(rest).toEqual({ CapEff: '0000000000000000', NoNewPrivs: '1', Seccomp: '2' })
  })

  test('makes a private backup as the timer does, and has everything after its restore', () => {
    expect(seen['backupFiles']).toMatch(
      /^600 \/var\/lib\/strongroom-backup\/strongroom-[1-7]\.backup$/,
    )
    expect(JSON.stringify(seen['usersAfterRestore'])).toContain('ada@example.com')
  })

  test('delivers in a separate worker, and serves metrics of both', () => {
    expect(seen['worker']).toMatchObject({ ActiveState: 'active' })
    expect([seen['serverMetrics'], seen['workerMetrics']]).toEqual([200, 200])
  })

  test('stops both cleanly, and Caddy then says that the server is away', () => {
    const clean = { ActiveState: 'inactive', Result: 'success', ExecMainStatus: '0' }
    expect(seen['stopped']).toEqual({ server: clean, worker: clean })
    expect(seen['badGateway']).toBe(502)
  })

  test('does not start without its master key', () => {
    expect(seen['noMasterKey']).toMatchObject({ code: 1, ExecMainStatus: '243' })
  })

  test('says what to do about a name without a certificate', () => {
    const { code, stderr } = seen['noCertificate'] as Finished
    expect([code, stderr]).toEqual([1, expect.stringMatching(/certificate/)])
  })

  test.each(Object.keys(CHECKS))('passes: %s', (name) => {
    const { code, stdout, stderr } = seen[name] as Finished
    expect(stdout + stderr).not.toMatch(/warning|error|FAILED/i)
    expect([code, stderr]).toEqual([0, expect.any(String)])
  })
})

/** Programs of Debian that judge the files of deploy/. */
const CHECKS: Record<string, string> = {
  'systemd-analyze verify': `cd /proof/deploy/systemd && systemd-analyze verify --man=no *.service *.timer`,
  ...Object.fromEntries(
    UNITS.map((unit) => [
      `systemd-analyze security ${unit}`,
      `systemd-analyze security --no-pager --offline=yes --threshold=${MAX_EXPOSURE} /proof/deploy/systemd/${unit}.service | tail -1`,
    ]),
  ),
  'caddy validate': `caddy validate --config /proof/deploy/caddy/Caddyfile --adapter caddyfile 2>&1 | tail -1`,
  'promtool check rules': 'promtool check rules /proof/deploy/prometheus/*.yml',
  'docker-compose config': `cd /proof && mkdir -p secrets && touch secrets/master.key
    docker-compose config --quiet
    TRUST_HOST=a.example SEALED_HOST=b.example docker-compose -f compose.yaml -f compose.tls.yaml --profile worker config --quiet`,
}

const PROOF_UNIT = `[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/usr/bin/node /proof/machine.mjs
ExecStopPost=/usr/bin/systemctl poweroff --no-block
[Install]
WantedBy=multi-user.target
`

/** Returns when it is powered off. Its network is its own loopback interface. */
async function boot(root: Root): Promise<void> {
  const options = ['--quiet', '--register=no', '--keep-unit', '--private-network', '--console=pipe']
  await exec('systemd-nspawn', [...options, `--directory=${root.path}`, '--boot'], {
    env: nspawnEnvironment,
    timeout: BOOT_TIMEOUT_MS,
  })
}
