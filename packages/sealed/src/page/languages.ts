/** The texts of the page by language tag. */
import de from './languages/de.json' with { type: 'json' }
import en from './languages/en.json' with { type: 'json' }
import es from './languages/es.json' with { type: 'json' }
import fr from './languages/fr.json' with { type: 'json' }
import ja from './languages/ja.json' with { type: 'json' }

export type TextKey = keyof typeof en

export const texts = { en, de, fr, es, ja } satisfies Record<string, Record<TextKey, string>>
