/** Addresses inside the page: readable, and the same for the same document. */

/** Where the part of a service or tag begins, also for links from other pages. */
export function groupAnchor(name: string): string {
  return `group-${slug(name)}`
}

export function schemaAnchor(name: string): string {
  // Unlike slugs, not lowered: `Secret` and `secret` are two schemas.
  return `schema-${name.replaceAll(/[^A-Za-z0-9_.-]+/g, '-')}`
}

export function operationAnchor(method: string, path: string): string {
  return `${method.toLowerCase()}-${slug(path)}`
}

function slug(text: string): string {
  const words = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return words.replaceAll(/^-|-$/g, '') || 'root'
}

/** Gives each anchor out once; whoever comes second gets a number. */
export function createAnchors(): (wanted: string) => string {
  const taken = new Set<string>()
  return (wanted) => {
    let anchor = wanted
    for (let count = 2; taken.has(anchor); count += 1) anchor = `${wanted}-${count}`
    taken.add(anchor)
    return anchor
  }
}
