import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { openInNode } from '../../sealed/test/page/node-client.ts'
import { inProcess } from './in-process.ts'
import { sealedServer } from './sealed-server.ts'
import { emptyDirectory, strongroom } from './strongroom.ts'

interface Sealed {
  link: string
  managementLink: string
  expiresAt: number
}

async function seal(url: string, args: string[] = [], text = 'hunter2\n', env = {}) {
  const file = join(await emptyDirectory(), 'secret.txt')
  await writeFile(file, text)
  const argv = ['seal', '--json', '--file', file, ...args]
  const { code, stdout, stderr } = await inProcess(argv, {
    env: { STRONGROOM_SERVER: url, ...env },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Sealed
}

const open = (link: string, more: string[] = []) => strongroom(['open', ...more], { stdin: link })
/** For what is not there to be written to standard output. */
const openNothing = (link: string) => inProcess(['open', link])

describe('strongroom seal and open', () => {
  test('a sealed text opens exactly once, and no request contains it', async () => {
    const { url, requests } = await sealedServer()
    const sealed = await strongroom(['seal', '--server', url], { stdin: 'hunter2\n' })
    expect(sealed.code).toBe(0)
    const [link = '', managementLink, ...rest] = sealed.stdout.split('\n')
    expect(link).toMatch(new RegExp(`^${url}/sealed/#[\\w-]{22}:[\\w-]{46}$`))
    expect(managementLink).toMatch(new RegExp(`^${url}/sealed/#m:[\\w-]{22}:[0-9a-f]{32}$`))
    expect(rest).toEqual([''])
    expect(await open(`${link}\n`)).toEqual({ code: 0, stdout: 'hunter2\n', stderr: '' })
    expect(requests.at(-1)?.call).toMatch(/\/ack$/)
    const sent = JSON.stringify(requests)
    expect(sent).not.toContain('hunter2')
    expect(sent).not.toContain(link.split(':').at(-1))
    expect(await openNothing(link)).toEqual({
      code: 3,
      stdout: '',
      stderr:
        'The secret does not exist, was already opened, was burned or has expired. Ask for a new link.\n',
    })
  })

  test('50 KB of any characters are preserved', async () => {
    const { url } = await sealedServer()
    const text = `\ufeff\r\n\u0000e\u0301 ${'🔑'.repeat(12_700)}`
    const sealed = await strongroom(['seal', '--server', url], { stdin: text })
    const [link = ''] = sealed.stdout.split('\n')
    const { stdout } = await open(link, ['--json'])
    expect(JSON.parse(stdout)).toEqual({ text, remainingViews: 0 })
  })

  test('a file is sealed with an expiry and a number of views, and opens that often', async () => {
    const clock = testClock()
    const { url } = await sealedServer({ clock })
    const { link, expiresAt } = await seal(url, ['--ttl', '7d', '--views', '2'], 'a file')
    expect(expiresAt).toBe(clock.now() / 1000 + 7 * 24 * 60 * 60)
    expect(await openInNode(link)).toEqual({
      name: 'secret.txt',
      mediaType: '',
      bytes: Uint8Array.from(Buffer.from('a file')),
    })
    expect((await open(link)).stdout).toBe('a file')
    expect((await openNothing(link)).code).toBe(3)
  })

  test('expiry and views are by default those of the server, and at most its maxima', async () => {
    const clock = testClock()
    const settings = {
      SEALED_DEFAULT_EXPIRY_MINUTES: '120',
      SEALED_MAX_EXPIRY_MINUTES: '10080',
      SEALED_DEFAULT_VIEWS: '2',
      SEALED_MAX_VIEWS: '3',
    }
    const { url, requests } = await sealedServer({ clock, settings })
    const { link, expiresAt } = await seal(url)
    expect(expiresAt).toBe(clock.now() / 1000 + 7200)
    for (let views = 0; views < 2; views++) {
      expect(await openInNode(link)).toMatchObject({ bytes: new TextEncoder().encode('hunter2\n') })
    }
    expect((await openNothing(link)).code).toBe(3)
    const before = requests.length
    const refusals: [string[], string][] = [
      [['--ttl', '8d'], '--ttl must be at most 1w, the maximum of this server\n'],
      [['--views', '4'], '--views must be at most 3, the maximum of this server\n'],
    ]
    for (const [args, stderr] of refusals) {
      const file = join(await emptyDirectory(), 'secret.txt')
      await writeFile(file, 'x')
      const argv = ['seal', '--server', url, '--file', file, ...args]
      expect(await inProcess(argv)).toEqual({ code: 2, stdout: '', stderr })
    }
    expect(requests.slice(before).filter(({ call }) => call.endsWith('/secrets'))).toEqual([])
  })

  test('a burned secret is not available, and burning does not reveal whether it existed', async () => {
    const { url } = await sealedServer()
    const { link, managementLink } = await seal(url)
    for (const time of ['once', 'again']) {
      const burned = await inProcess(['burn', managementLink])
      expect(burned, time).toEqual({
        code: 0,
        stdout: 'If the secret still existed, it was destroyed\n',
        stderr: '',
      })
    }
    expect((await openNothing(link)).code).toBe(3)
  })

  test('a receipt shows how often a secret was opened, if it was sealed with --receipt', async () => {
    const { url } = await sealedServer({ clock: testClock('2100-01-01T00:00:00.000Z') })
    const { link, managementLink } = await seal(url, ['--receipt', '--views', '2'])
    const receipt = (managed: string) => inProcess(['receipt', managed])
    expect((await receipt(managementLink)).stdout).toBe('pending: not opened yet\n')
    await openInNode(link)
    expect((await receipt(managementLink)).stdout).toBe(
      'viewed: 1 of 2 views, last opened at 2100-01-01T00:00:00.000Z\n',
    )
    const without = await seal(url)
    expect(await receipt(without.managementLink)).toEqual({
      code: 3,
      stdout: '',
      stderr: 'No receipt: the secret was sealed without --receipt, or its receipt has expired\n',
    })
    const { stdout } = await inProcess(['receipt', without.managementLink, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'no_receipt' } })
  })

  test('a link whose # was escaped opens, is burned and shows its receipt', async () => {
    const { url, requests } = await sealedServer()
    const { link, managementLink } = await seal(url, ['--receipt'])
    const [escaped, managed] = [link.replace('#', '%23'), managementLink.replace('#', '%2523')]
    expect((await open(escaped)).stdout).toBe('hunter2\n')
    expect((await inProcess(['receipt', managed])).stdout).toMatch(/^viewed: 1 of 1 views/)
    expect((await inProcess(['burn', managed])).code).toBe(0)
    expect(JSON.stringify(requests)).not.toContain(link.split(':').at(-1))
  })

  test('the server is found below /sealed/, at the root and by the URL of its page', async () => {
    const whole = await sealedServer()
    const alone = await sealedServer({ atRoot: true })
    const [link, alsoLink, rootLink] = [
      (await seal(whole.url)).link,
      (await seal(`${whole.url}/sealed`)).link,
      (await seal(`${alone.url}/`)).link,
    ]
    expect(link).toContain(`${whole.url}/sealed/#`)
    expect(alsoLink).toContain(`${whole.url}/sealed/#`)
    expect(rootLink).toContain(`${alone.url}/#`)
    expect((await open(rootLink)).stdout).toBe('hunter2\n')
  })
})

describe('a passphrase', () => {
  test('comes from a descriptor, the environment or a file, in any Unicode normalization', async () => {
    const { url } = await sealedServer()
    const [composed, decomposed] = [' Café ', ' Cafe\u0301 ']
    const sealed = await strongroom(
      ['seal', '--server', url, '--passphrase-fd', '3', '--views', '3'],
      {
        stdin: 'x',
        fd3: `${composed}\n`,
      },
    )
    const [link = ''] = sealed.stdout.split('\n')
    const file = join(await emptyDirectory(), 'passphrase')
    await writeFile(file, `${composed}\r\n`)
    const opened = [
      await strongroom(['open', link, '--passphrase-fd', '3'], { stdin: '', fd3: decomposed }),
      await strongroom(['open', link], { stdin: '', env: { STRONGROOM_PASSPHRASE: decomposed } }),
      await strongroom(['open', link], { stdin: '', env: { STRONGROOM_PASSPHRASE_FILE: file } }),
    ]
    const right = { code: 0, stdout: 'x', stderr: '' }
    expect(opened).toEqual([right, right, right])
  })

  test('that is wrong or missing uses up no view', async () => {
    const { url } = await sealedServer()
    const env = { STRONGROOM_PASSPHRASE: 'right' }
    const { link } = await seal(url, [], 'x', env)
    const wrong = { STRONGROOM_PASSPHRASE: 'wrong' }
    expect(await inProcess(['open', link], { env: wrong })).toEqual({
      code: 4,
      stdout: '',
      stderr: 'The passphrase is wrong. 9 tries are left.\n',
    })
    expect(await strongroom(['open', link], { stdin: '' })).toEqual({
      code: 4,
      stdout: '',
      stderr:
        'A passphrase is required, but there is no terminal to ask on: use --passphrase-fd or STRONGROOM_PASSPHRASE\n',
    })
    const { stdout } = await strongroom(['open', link, '--json'], { stdin: '' })
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'no_passphrase' } })
    expect((await strongroom(['open', link], { stdin: '', env })).stdout).toBe('x')
  })

  test('is read from the environment by seal and open with --passphrase where no terminal can ask', async () => {
    const { url } = await sealedServer()
    const env = { STRONGROOM_PASSPHRASE: 'right' }
    const args = ['seal', '--server', url, '--passphrase', '--views', '2']
    const sealed = await strongroom(args, { stdin: 'x', env })
    expect(sealed).toMatchObject({ code: 0, stderr: '' })
    const [link = ''] = sealed.stdout.split('\n')
    const right = { code: 0, stdout: 'x', stderr: '' }
    expect(await strongroom(['open', link, '--passphrase'], { stdin: '', env })).toEqual(right)
    // One try, not one after the other until the secret is destroyed.
    const wrong = { STRONGROOM_PASSPHRASE: 'wrong' }
    expect(await strongroom(['open', link, '--passphrase'], { stdin: '', env: wrong })).toEqual({
      code: 4,
      stdout: '',
      stderr: 'The passphrase is wrong. 9 tries are left.\n',
    })
    const file = join(await emptyDirectory(), 'passphrase')
    await writeFile(file, 'right\n')
    const fromFile = { STRONGROOM_PASSPHRASE_FILE: file }
    expect(await strongroom(['open', link, '--passphrase'], { stdin: '', env: fromFile })).toEqual(
      right,
    )
  })

  test('that is required but given nowhere is an error of seal and open that names both ways', async () => {
    const { url } = await sealedServer()
    const { link } = await seal(url, [], 'x', { STRONGROOM_PASSPHRASE: 'right' })
    for (const args of [
      ['seal', '--server', url, '--passphrase'],
      ['open', link, '--passphrase'],
    ]) {
      expect(await strongroom(args, { stdin: 'x' })).toEqual({
        code: 4,
        stdout: '',
        stderr:
          'A passphrase is required, but there is no terminal to ask on: use --passphrase-fd or STRONGROOM_PASSPHRASE\n',
      })
    }
  })
})
