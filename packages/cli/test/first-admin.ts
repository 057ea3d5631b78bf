import { readFile } from 'node:fs/promises'

/** Becomes the first admin of a server with the code that it wrote; `printed` is what `serve --json` prints. */
export async function claimFirstAdmin(printed: string): Promise<string> {
  const { url, bootstrapFile } = JSON.parse(printed) as { url: string; bootstrapFile: string }
  const code = (await readFile(bootstrapFile, 'utf8')).trim()
  const response = await fetch(`${url}/server/v1/bootstrap`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  return ((await response.json()) as { token: string }).token
}
