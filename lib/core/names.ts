/** Folds a name for comparison: compatibility form, lower case, single spaces. */
export function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase().trim().replace(/\s+/gu, ' ');
}

/**
 * The form in which asset ids are compared and stored, so that two spellings of one label are one
 * lock: NFKC, upper case, nothing invisible, one kind of hyphen, single spaces.
 */
export function canonicalAsset(asset: string): string {
  return asset
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\p{Dash_Punctuation}/gu, '-')
    .toLowerCase()
    .toUpperCase()
    .normalize('NFKC')
    .trim()
    .replace(/\s+/gu, ' ');
}

/** Whether a text has nothing that could be seen or spoken. */
export function isBlank(text: string): boolean {
  return text.replace(/[\p{Default_Ignorable_Code_Point}\p{M}\p{C}\s]/gu, '') === '';
}
