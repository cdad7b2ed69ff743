import pytest

from core.corpus.recipe.spelling import reformed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Er weiß, daß er muß.", "Er weiß, dass er muss."),
        ("Daß der Prozeß ihn häßlich läßt", "Dass der Prozess ihn hässlich lässt"),
        ("Einfluß, Ausschuß, Schluß, Schloß, Kuß, Nuß", "Einfluss, Ausschuss, Schluss, Schloss, "
         "Kuss, Nuss"),
        ("bewußt, gewußt, müßte, küßt, gewiß", "bewusst, gewusst, müsste, küsst, gewiss"),
        ("Mißbrauch, ein bißchen, vergißt, ißt", "Missbrauch, ein bisschen, vergisst, isst"),
        ("paßt, Reisepaß, naß, Rußland, Fairneß", "passt, Reisepass, nass, Russland, Fairness"),
        ("Er schloß die Tür und goß Tee ein.", "Er schloss die Tür und goss Tee ein."),
    ],
)  # fmt: skip
def test_after_a_short_vowel(old: str, new: str) -> None:
    assert reformed(old) == new
    assert reformed(new) == new


@pytest.mark.parametrize(
    "text",
    [
        "Straße, groß, Fuß, Spaß, Gruß, Maß, süß, Soße, Floß, Schoß, Stoß, bloß, Strauß",
        "heißt, weißt, ließ, vergaß, aß, saß, fraß, schließlich, Fleiß, Spieß, genießt, fließt",
        "regelmäßig, gemäß, Gefäß, äußern, grüßt, müßig, Füße, büßen, außer, draußen, dreißig",
        "schießt, gießt, Straßburg, Preußen, einschließlich, reißt, beißt, stieß, hieß",
    ],
)
def test_after_a_long_one_it_stays(text: str) -> None:
    assert reformed(text) == text
