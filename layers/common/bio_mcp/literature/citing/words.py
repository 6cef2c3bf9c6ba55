"""Word lists for title case: what stays lower case, and what marks a title as English or foreign."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SMALL = _words(
    "a an the and but or nor for so yet as at by in into of off on onto out over per to up upon via with within "
    "without about above across after against along amid among around before behind below beneath beside besides "
    "between beyond concerning despite down during except from inside like near outside past regarding round since "
    "through throughout till toward towards under underneath until versus vs vs."
)
LATIN = _words(
    "vitro vivo situ silico utero vacuo ovo novo facto priori posteriori sensu stricto lato et al de del della der "
    "des di du la le les van von und spp sp ssp var subsp"
)
UNITS = _words("mg kg g ml dl l mm cm nm km h min ms hz khz mhz ng pg mol mmol kda bp kb mb")
FOREIGN = _words(
    "de der die das und für fur des du la le les el los las del della delle di e et y i za zu zur im och og za w na "
    "zasshi zhi zhonghua xue yi nihon nippon tidsskrift for revista revue rivista zeitschrift zentralblatt"
    " archiv annali arquivos anales orvosi hetilap voprosy zhurnal vestnik lege casopis lijecnicki ugeskrift "
    "lakartidningen nederlands tijdschrift voor magy ter pflege medecine clinique experimentale"
)
ENGLISH = _words(
    "the of and journal medicine medical science sciences research review reviews reports letters annals proceedings "
    "international american british european health clinical"
)
