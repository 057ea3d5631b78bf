// Accounts of the server under attack, as their owners use them.

export interface Account {
  call<T>(method: string, path: string, body?: object): Promise<T>
  /** Creates a source with connections and returns its id. */
  source(given: object, connections: readonly object[]): Promise<string>
}

/** Creates accounts; connections without a destination deliver to the given one. */
export function createAccounts(url: string, prefix: string, destinationUrl: string) {
  let people = 0

  return async function account(): Promise<Account> {
    const person = {
      email: `${prefix}-${++people}@example.com`,
      name: 'Bounds',
      password: 'correct horse battery',
    }
    const signUp = await send(`${url}/ferryhook/v1/auth/signup`, 'POST', person)
    const { accessToken } = (await signUp.json()) as { accessToken: string }
    const call = async <T>(method: string, path: string, body?: object) => {
      const response = await send(`${url}/ferryhook/v1${path}`, method, body, accessToken)
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return (text === '' ? undefined : JSON.parse(text)) as T
    }
    return {
      call,
      async source(given, connections) {
        const source = { name: 'Bounds', provider: 'custom', ...given }
        const { id } = await call<{ id: string }>('POST', '/sources', source)
        for (const connection of connections) {
          const named = { name: 'Bounds', destinationUrl, ...connection }
          // oxlint-disable-next-line no-await-in-loop -- the server limits a user's requests
          await call('POST', `/sources/${id}/connections`, named)
        }
        return id
      },
    }
  }
}

function send(url: string, method: string, body?: object, token?: string): Promise<Response> {
  return fetch(url, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
}
